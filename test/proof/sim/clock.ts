// The virtual clock of a simulation: a heap of steps, ordered by time and then by the order in which they were scheduled.
// A step of a node runs only if the node has not crashed since; the steps of a frozen node run later. Between two steps,
// all pending promises settle.
import { Heap } from './heap.ts';

/** Something that can die or freeze. */
export interface Mortal {
  readonly name: string;
  /** Increases with every crash or stop. */
  life: number;
  /** Frozen until this time. */
  frozenUntilMs: number;
}

export interface Step {
  atMs: number;
  no: number;
  mortal: Mortal | undefined;
  life: number;
  run: (() => void) | undefined;
}

export class Clock {
  readonly #heap = new Heap<Step>((a, b) => a.atMs - b.atMs || a.no - b.no);
  readonly #lines: string[] = [];
  readonly #linesKept: number;
  #nowMs = 0;
  #steps = 0;
  #said = 0;
  #high = 0x811c9dc5;
  #low = 0x01234567;

  constructor(linesKept: number) {
    this.#linesKept = linesKept;
  }

  /** Since the start of the simulation. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Schedules a step that does not depend on any node. */
  after(ms: number, run: () => void): Step {
    return this.#push(ms, undefined, run);
  }

  /** Schedules a step of a node, which is dropped if the node dies before. */
  afterIn(mortal: Mortal, ms: number, run: () => void): Step {
    return this.#push(ms, mortal, run);
  }

  cancel(step: Step): void {
    step.run = undefined;
  }

  /** Adds a line to the trace, for the analysis of a violation. */
  note(line: string): void {
    const text = `${this.#nowMs.toFixed(1)} ${line}`;
    this.#mix(text);
    this.#lines.push(text);
    if (this.#lines.length > 2 * this.#linesKept) this.#lines.splice(0, this.#linesKept);
  }

  /** The last lines of the trace. */
  lines(): readonly string[] {
    return this.#lines.slice(-this.#linesKept);
  }

  /** A fingerprint of the run: equal for two runs with identical steps. */
  print(): string {
    const hex = (half: number): string => (half >>> 0).toString(16).padStart(8, '0');
    return `${hex(this.#high)}${hex(this.#low)}`;
  }

  /** Runs until `isOver`, or until `untilMs`; returns whether it is over. */
  async runUntil(untilMs: number, isOver: () => boolean): Promise<boolean> {
    for (;;) {
      if (isOver()) return true;
      const next = this.#heap.first();
      if (next === undefined || next.atMs > untilMs) {
        this.#nowMs = untilMs;
        return false;
      }
      this.#heap.take();
      if (!this.#begin(next)) continue;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #begin(step: Step): boolean {
    const { mortal, run } = step;
    if (run === undefined || (mortal !== undefined && mortal.life !== step.life)) return false;
    if (mortal !== undefined && mortal.frozenUntilMs > step.atMs) {
      step.atMs = mortal.frozenUntilMs;
      this.#heap.add(step);
      return false;
    }
    this.#nowMs = Math.max(this.#nowMs, step.atMs);
    this.#steps += 1;
    this.#mixNumber(step.atMs * 1024);
    this.#mixNumber(step.no);
    run();
    return true;
  }

  #push(ms: number, mortal: Mortal | undefined, run: () => void): Step {
    const atMs = this.#nowMs + Math.max(ms, 0);
    this.#said += 1;
    const step = { atMs, no: this.#said, mortal, life: mortal?.life ?? 0, run };
    this.#heap.add(step);
    return step;
  }

  #mix(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#mixNumber(text.charCodeAt(at));
  }

  #mixNumber(value: number): void {
    this.#high = Math.imul(this.#high ^ (value | 0), 0x01000193);
    this.#low = Math.imul(this.#low ^ this.#high, 0x85ebca6b) ^ (this.#low >>> 13);
  }
}
