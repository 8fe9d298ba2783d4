// The time span of a statistics request, and the length of its steps. Figures are kept by the
// minute, so no step is shorter; steps begin at multiples of their length, so that they do not
// shift from one request to the next.

export const minuteMs = 60_000;

export const ranges = ['15m', '1h', '24h', '7d'] as const;
export type Range = (typeof ranges)[number];

const shapes: Readonly<Record<Range, { steps: number; stepMinutes: number }>> = {
  '15m': { steps: 15, stepMinutes: 1 },
  '1h': { steps: 60, stepMinutes: 1 },
  '24h': { steps: 48, stepMinutes: 30 },
  '7d': { steps: 56, stepMinutes: 180 },
};

/** Resolution of a subscription's figures after some hours; it divides the longer steps. */
export const coarseMinutes = 30;

/** Whole days whose year has four digits. */
const calendarFirstMs = Date.parse('0000-01-01T00:00:00Z');
export const calendarLastMs = Date.parse('9999-12-31T00:00:00Z');

/** Maximum number of steps of a span that is given by its ends. */
export const stepsMax = 120;
const dayMinutes = 24 * 60;
/** Step lengths that people can read; longer ones are whole days. */
const readable = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, dayMinutes];

/** In minutes since 1970; both ends are multiples of the step. */
export interface Span {
  fromMinute: number;
  /** Exclusive. */
  untilMinute: number;
  stepMinutes: number;
}

/** The newest steps, the current one last. */
export function spanOf(range: Range, nowMs: number): Span {
  const { steps, stepMinutes } = shapes[range];
  const untilMinute = (Math.floor(minuteOf(nowMs) / stepMinutes) + 1) * stepMinutes;
  return { fromMinute: untilMinute - steps * stepMinutes, untilMinute, stepMinutes };
}

/**
 * Covers the span with the shortest readable steps that are few enough. `fromMs` is before
 * `untilMs` and `calendarLastMs`.
 */
export function spanBetween(fromMs: number, untilMs: number): Span {
  for (const stepMinutes of readable) {
    const span = coverBy(stepMinutes, { fromMs, untilMs });
    if (stepsOf(span) <= stepsMax) return span;
  }
  // Where neither end is a multiple, rounding costs one step.
  const days = Math.ceil((untilMs - fromMs) / (dayMinutes * minuteMs) / (stepsMax - 1));
  return coverBy(days * dayMinutes, { fromMs, untilMs });
}

export function stepsOf({ fromMinute, untilMinute, stepMinutes }: Span): number {
  return (untilMinute - fromMinute) / stepMinutes;
}

export function minuteOf(ms: number): number {
  return Math.floor(ms / minuteMs);
}

/** Drops steps that would begin or end outside years of four digits: no data is there. */
function coverBy(stepMinutes: number, ends: { fromMs: number; untilMs: number }): Span {
  const stepMs = stepMinutes * minuteMs;
  const first = Math.max(Math.floor(ends.fromMs / stepMs), Math.ceil(calendarFirstMs / stepMs));
  const last = Math.min(Math.ceil(ends.untilMs / stepMs), Math.floor(calendarLastMs / stepMs));
  return { fromMinute: first * stepMinutes, untilMinute: last * stepMinutes, stepMinutes };
}
