// A failure that the person at the terminal can do something about: shown as a sentence, no stack.

export interface FailureOptions {
  cause?: unknown;
  exitCode?: number;
  /** Of a service's refusal: the code of its problem and the status, for programs. */
  code?: string | undefined;
  status?: number | undefined;
}

export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  /** 1: it did not work. 2: it was called wrongly. */
  readonly exitCode: number;
  readonly code: string | undefined;
  readonly status: number | undefined;

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
    this.code = options.code;
    this.status = options.status;
  }
}

/** It was called wrongly: whoever shows it adds where to read how. */
export function calledWrongly(message: string): CliFailure {
  return new CliFailure(message, { exitCode: 2 });
}
