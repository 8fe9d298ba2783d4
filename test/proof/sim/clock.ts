// The clock of a simulation: one heap of what will happen, by time and then by the order in which it was
// said. Whatever belongs to a node happens in the life that it was said in, or never: that is what a
// crash is. A node that stands still does it later. Between two steps all promises run to their end.
import { Heap } from './heap.ts';

/** What can die and stand still. */
export interface Mortal {
  readonly name: string;
  /** Which of its lives it has. */
  life: number;
  /** It stands still until then. */
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

  /** Since the beginning. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Happens after `ms`, whoever dies meanwhile. */
  after(ms: number, run: () => void): Step {
    return this.#push(ms, undefined, run);
  }

  /** Happens after `ms` in the present life of a node, or never. */
  afterIn(mortal: Mortal, ms: number, run: () => void): Step {
    return this.#push(ms, mortal, run);
  }

  cancel(step: Step): void {
    step.run = undefined;
  }

  /** What is worth to be read by a person who looks for the cause of something. */
  note(line: string): void {
    const text = `${this.#nowMs.toFixed(1)} ${line}`;
    this.#mix(text);
    this.#lines.push(text);
    if (this.#lines.length > 2 * this.#linesKept) this.#lines.splice(0, this.#linesKept);
  }

  /** The last ones. */
  lines(): readonly string[] {
    return this.#lines.slice(-this.#linesKept);
  }

  /** Two runs with the same print went the same way. */
  print(): string {
    const hex = (half: number): string => (half >>> 0).toString(16).padStart(8, '0');
    return `${hex(this.#high)}${hex(this.#low)}`;
  }

  /** Goes on until `isOver`, or until `untilMs`; whether it is over. */
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
