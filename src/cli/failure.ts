// A failure that the person at the terminal can do something about: shown as a sentence, no stack.

export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  /** 1: it did not work. 2: it was called wrongly, where a command tells the two apart. */
  readonly exitCode: number;

  constructor(message: string, options: { cause?: unknown; exitCode?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
