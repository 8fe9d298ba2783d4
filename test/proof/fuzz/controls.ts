// Negative controls: ways to break the product that the fuzzer must detect.
import type { SourceChange } from '../controls/change-source.ts';
import { lookInProcess, type LookControl } from '../controls/run-controls.ts';

const file = new URL('./look-fuzz.ts', import.meta.url);

/** Fuzzes only these operations, so that few requests are enough. */
function look(only: readonly string[], requests = 250): LookControl['look'] {
  return lookInProcess(file, [JSON.stringify({ seed: 7, requests, only })]);
}

const subscriptions = ['subscribeOperation', 'getSubscription', 'deleteSubscription'];

interface Broken {
  name: string;
  change: SourceChange;
  breaks: RegExp;
  only: readonly string[];
  requests?: number;
}

const broken: readonly Broken[] = [
  {
    name: 'fuzz-lookup-by-id-only',
    change: {
      file: 'src/store/verbs/subscriptions/subscriptions.ts',
      find: 'from subscription where id = ?1 and app = ?2`,',
      replace: 'from subscription where id = ?1 and ?2 >= 0`,',
    },
    breaks: /^I17: answered 200 to another app's id/,
    only: subscriptions,
  },
  {
    name: 'fuzz-undeclared-field',
    change: {
      file: 'src/api/handlers/subscriptions.ts',
      find: '    callbacks: callbacks.map(showCallback),',
      replace: '    callbacks: callbacks.map(showCallback), internal: 1,',
    },
    breaks: /^undeclared: status 200, \/internal is not declared/,
    only: subscriptions,
  },
  {
    name: 'fuzz-undeclared-status',
    change: {
      file: 'src/api/handlers/subscriptions.ts',
      find: 'return { status: 204 };',
      replace: "return { status: 200, body: { ended: 'yes' } };",
    },
    breaks: /^undeclared: status 200 /,
    only: subscriptions,
  },
  {
    name: 'fuzz-throws-at-an-edge',
    change: {
      file: 'src/api/request/fields.ts',
      find: '  const after = optionalText(fields, ',
      replace: "  assert(fields['limit'] !== 500);\n  const after = optionalText(fields, ",
    },
    breaks: /^5xx: answered 500/,
    only: ['listSubscriptions', 'listEvents', 'listKeys'],
  },
  {
    name: 'fuzz-members-not-checked',
    change: {
      file: 'src/contract/schema/bundle.ts',
      find: "    patterns !== undefined && keywords.get('patternProperties')",
      replace: "    patterns === undefined || keywords.get('patternProperties')",
    },
    breaks: /^accepted: .*additional member/,
    only: ['createKey', 'createReplay', 'createApp', 'publishEvent'],
  },
  {
    name: 'fuzz-scope-not-asked-for',
    change: {
      file: 'src/api/operations/authenticate.ts',
      find: 'if (scope !== undefined && !holds(best.key, scope)) {',
      replace: 'if (scope !== undefined && best.key.scopes.length === 0) {',
    },
    breaks: /^I17: answered \d+, expected 403/,
    only: ['listKeys', 'listApps', 'listEvents'],
  },
  {
    name: 'fuzz-url-in-the-log',
    change: {
      file: 'src/api/request/request-log.ts',
      find: '    method: request.method,\n    status,\n    tookMs',
      replace: '    method: request.method,\n    url: request.url,\n    status,\n    tookMs',
    },
    breaks: /^I16: the log holds/,
    only: ['listEvents'],
  },
  {
    name: 'fuzz-time-beyond-the-calendar',
    change: {
      file: 'src/core/base/parse-time.ts',
      find: '  return ms >= firstMs && ms <= lastMs ? ms : undefined;',
      replace: '  return Number.isNaN(ms) || firstMs > lastMs ? undefined : ms;',
    },
    breaks: /^undeclared: status 201, \/\S+ is no date-time/,
    only: ['createKey', 'createReplay'],
    requests: 1_500, // Only a few of the drawn times are at the edge of the calendar.
  },
];

/** Mistakes in Ringback's HTTP parsers, each of which the comparison with Node's parser must detect. */
const misread: readonly Omit<Broken, 'only' | 'requests'>[] = [
  {
    name: 'http-request-in-chunks-taken-directly',
    change: {
      file: 'src/api/direct/read-whole.ts',
      find: "const odd = ['transfer-encoding', ",
      replace: 'const odd = [',
    },
    breaks: /^http: a request, /,
  },
  {
    name: 'http-request-behind-another-dropped',
    change: {
      file: 'src/api/direct/read-whole.ts',
      find: "if (missing < 0) return 'doubt';",
      replace: '',
    },
    breaks: /^http: a request, /,
  },
  {
    name: 'http-answer-with-two-lengths',
    change: {
      file: 'src/egress/http/answer-reader.ts',
      find: "if (this.#length !== undefined) throw new BadAnswer('it has two Content-Length headers');",
      replace: '',
    },
    breaks: /^http: an answer, /,
  },
  {
    name: 'http-interim-answer-with-a-body',
    change: {
      file: 'src/egress/http/answer-reader.ts',
      find: "throw new BadAnswer('an interim response announces a body');",
      replace: 'void 0;',
    },
    breaks: /^http: an answer, /,
  },
  {
    name: 'http-trailers-not-read',
    change: {
      file: 'src/egress/http/answer-reader.ts',
      find: "token(byte, 'trailer_name');\n      case 'trailer_value'",
      replace: "'trailer_name';\n      case 'trailer_value'",
    },
    breaks: /^http: an answer, /,
  },
];

const huge: readonly LookControl[] = [
  {
    name: 'huge-report-on-the-event-loop',
    changes: [
      {
        file: 'src/api/handlers/service.ts',
        find: 'await deps.pages.report(contract)',
        replace: 'Buffer.from(reportJson(contract))',
      },
      {
        file: 'src/api/handlers/service.ts',
        find: "import { lazy } from '../../core/base/lazy.ts';",
        replace:
          "import { lazy } from '../../core/base/lazy.ts';\nimport { reportJson } from '../pages/contract-json.ts';",
      },
    ],
    breaks: /^huge: members: \d answers while the report was made/,
    look: lookInProcess(new URL('./look-huge.ts', import.meta.url)),
  },
  {
    name: 'huge-values-not-paid',
    changes: [
      {
        file: 'src/contract/schema/step-budget.ts',
        find: '  work.left -= steps;\n',
        replace: '  if (steps === 0) return;\n',
      },
    ],
    breaks: /^huge: members: the report does not say/,
    look: lookInProcess(new URL('./look-huge.ts', import.meta.url)),
  },
  {
    name: 'huge-values-without-end',
    changes: [
      {
        file: 'src/contract/schema/step-budget.ts',
        find: 'if (left < 0) throw new TooManySteps(full);',
        replace: 'if (left < -Infinity) throw new TooManySteps(full);',
      },
    ],
    breaks: /^huge values: /,
    look: lookInProcess(new URL('./look-huge-values.ts', import.meta.url)),
  },
];

export const fuzzControls: readonly LookControl[] = [
  ...broken.map(({ name, change, breaks, only, requests }): LookControl => ({
    name,
    changes: [change],
    breaks,
    look: look(only, requests),
  })),
  ...huge,
  ...misread.map(({ name, change, breaks }): LookControl => ({
    name,
    changes: [change],
    breaks,
    look: lookInProcess(new URL('./http/look-http.ts', import.meta.url)),
  })),
];
