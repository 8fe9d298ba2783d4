// Negative controls: ways to break the product that hostile receivers must detect.
import type { SourceChange } from '../controls/change-source.ts';
import { lookInProcess, type LookControl } from '../controls/run-controls.ts';
import type { Finding } from '../finding.ts';
import { holdOne } from './hold.ts';
import { lookAtHangingApp, meetSome } from './part.ts';

/** An attempt that holds its slot for longer than this, with a deadline of 1 s, counts as lost. */
const patienceMs = 3_000;

/** Runs these receivers, and combines their violations. */
function meeting(
  ...titles: readonly string[]
): (changes: readonly SourceChange[]) => Promise<Finding> {
  return async (changes) => {
    const found = await meetSome(titles, { changes, patienceMs });
    const violations = found.flatMap((one) => one.violations);
    return { part: 'hostile receivers', figures: {}, violations };
  };
}

const noBoundAfterHead: SourceChange = {
  file: 'src/egress/http/answer-reader.ts',
  find: 'if (this.#restBytes <= this.#limits.responseRestBytesMax) return',
  replace: 'if (this.#restBytes <= Infinity) return',
};

const hangingApp = {
  breaks: /^I10: \d+ of \d+ came to another app/,
  look: lookAtHangingApp({ patienceMs: 5_000 }),
};

export const receiversControls: readonly LookControl[] = [
  {
    name: 'an app may fill the window',
    changes: [
      {
        file: 'src/core/load/share-formula.ts',
        find: 'const unproven = Math.min(room, trial);',
        replace: 'return { room: free, unproven: free + 0 * room * trial };',
      },
    ],
    ...hangingApp,
  },
  {
    name: 'what a publish leases obeys no share',
    changes: [
      {
        file: 'src/store/rules/offer-slots.ts',
        find: 'Math.min(inLane(lane), roomLeft, inApp(lane, apps.left(lane.appNo))),',
        replace: 'Math.min(inLane(lane), roomLeft),',
      },
    ],
    ...hangingApp,
  },
  {
    name: 'an attempt has no deadline',
    changes: [
      {
        file: 'src/egress/http/exchange.ts',
        find: 'parts.context.deadlines.set(request.timeoutMs, this)',
        replace: 'parts.context.deadlines.set(3_600_000, this)',
      },
    ],
    breaks: /^I11: "hangs after accept": \d+ attempts hold their slots/,
    look: meeting('hangs after accept'),
  },
  {
    name: 'a body has no deadline',
    changes: [
      {
        file: 'src/egress/http/exchange.ts',
        find: 'if (this.#deadline.dueMs - world.monotonicMs() <= limits.responseReadMs) return;',
        replace: 'return deadlines.clear(this.#deadline);',
      },
    ],
    breaks: /^I11: "drips its body": \d+ attempts hold their slots/,
    look: meeting('drips its body'),
  },
  {
    name: 'a body may have any length',
    changes: [
      {
        file: 'src/egress/http/stored-response.ts',
        find: "return part === chunk ? 'fits' : 'full';",
        replace: "return 'fits';",
      },
      noBoundAfterHead,
    ],
    breaks: /^I11: "never ends its body": every attempt ran into the deadline/,
    look: meeting('never ends its body'),
  },
  {
    name: 'what is neither head nor body may have any length',
    changes: [noBoundAfterHead],
    breaks: /^I11: "never ends a chunk extension": every attempt ran into the deadline/,
    look: meeting('never ends a chunk extension'),
  },
  {
    name: 'a head may have any length',
    changes: [
      {
        file: 'src/core/limits/limits.ts',
        find: 'responseHeadBytesMax: 16_384',
        replace: 'responseHeadBytesMax: 16_777_216',
      },
    ],
    breaks: /^I3: "sends a header of 64 KiB": \d+ of \d+ are delivered/,
    look: meeting('sends a header of 64 KiB'),
  },
  {
    name: 'a head may have any number of lines',
    changes: [
      {
        file: 'src/core/limits/limits.ts',
        find: 'responseHeadLinesMax: 512',
        replace: 'responseHeadLinesMax: 100_000',
      },
    ],
    breaks: /^I3: "sends four thousand headers": \d+ of \d+ are delivered/,
    look: meeting('sends four thousand headers'),
  },
  {
    name: 'interim answers are not counted',
    changes: [
      {
        file: 'src/core/limits/limits.ts',
        find: 'responsesInterimMax: 100',
        replace: 'responsesInterimMax: 1_000_000_000',
      },
    ],
    breaks: /^I14: "floods 103": \d+ of \d+ are failed/,
    look: meeting('floods 103'),
  },
  {
    name: 'a redirect counts as delivered',
    changes: [
      {
        file: 'src/core/domain/outcome.ts',
        find: 'status <= 299) return { kind',
        replace: 'status <= 399) return { kind',
      },
    ],
    breaks: /^I3: "redirects with 307": \d+ of \d+ are delivered/,
    look: meeting('redirects with 307'),
  },
  {
    name: 'an error of the receiver counts as delivered',
    changes: [
      {
        file: 'src/core/domain/outcome.ts',
        find: 'status <= 299) return { kind',
        replace: 'status <= 599) return { kind',
      },
    ],
    breaks: /^I3: "answers 500": \d+ of \d+ are delivered/,
    look: meeting('answers 500'),
  },
  {
    name: 'a success whose body is cut is sent again',
    changes: [
      {
        file: 'src/egress/http/exchange.ts',
        find: "else this.#settle(this.#answer('cut') ?? this.#explain(error));",
        replace: 'else this.#settle(this.#explain(error));',
      },
    ],
    breaks: /^I14: "closes in its body": \d+ of \d+ are failed/,
    look: meeting('closes in its body'),
  },
  {
    name: 'connections stay open when an attempt is given up',
    changes: [
      {
        file: 'src/egress/http/exchange.ts',
        find: 'else connections.drop(this.#connection);',
        replace: 'else this.#connection = undefined;',
      },
    ],
    breaks: /^I11: "hangs after accept": \d+ connections stay open/,
    look: meeting('hangs after accept'),
  },
  {
    name: 'any certificate will do',
    changes: [
      {
        file: 'src/egress/http/connect.ts',
        find: 'rejectUnauthorized: true',
        replace: 'rejectUnauthorized: false',
      },
    ],
    breaks: /^I3: "has a certificate that has expired \(https\)": \d+ of \d+ are delivered/,
    look: meeting('has a certificate that has expired (https)'),
  },
  {
    name: 'a lane may take the whole window',
    changes: [
      {
        file: 'src/core/load/share-formula.ts',
        find: 'return Math.max(Math.min(limits.laneCapStart, unproven >> 4), 1);',
        replace: 'return unproven;',
      },
    ],
    breaks: /^I10: a receiver that hangs held \d+ slots at a time/,
    look: holdOne,
  },
  ...(
    [
      [
        'apps share connections to a host',
        'src/egress/http/exchange.ts',
        '`${request.app} ${this.origin}`',
        'this.origin',
        /^reuse: 3 apps at one host had 1 connections/,
      ],
      [
        'any interim answer keeps its connection',
        'src/egress/http/answer-reader.ts',
        'status >= 200 || status === 100',
        'status >= 100 || status === 100',
        /^reuse: after a 102, 1 /,
      ],
      [
        'a 304 with a length keeps its connection',
        'src/egress/http/answer-reader.ts',
        'status !== 204 && status !== 304',
        'status !== 204',
        /^reuse: after a 304 with a length, 1 /,
      ],
      [
        'bytes behind an answer are passed over',
        'src/egress/http/answer-reader.ts',
        "end === piece.length ? 'ended' : 'ended_early'",
        "'ended'",
        /^reuse: after a byte behind the end, 1 /,
      ],
      [
        'trailers are passed over',
        'src/egress/http/answer-reader.ts',
        "byte === colon ? 'trailer_value' : token(byte, 'trailer_name')",
        "byte === carriage ? 'trailer_end' : 'trailer_name'",
        /^reuse: after a trailer without a colon, 1 /,
      ],
    ] as const
  ).map(([name, file, find, replace, breaks]): LookControl => ({
    name,
    changes: [{ file, find, replace }],
    breaks,
    look: lookInProcess(new URL('./reuse.ts', import.meta.url)),
  })),
];
