// A failure that the user can do something about: shown as a sentence, without a stack.

export interface FailureOptions {
  cause?: unknown;
  exitCode?: number;
  /** For programs, if the service refused: the code of its problem, and the status. */
  code?: string | undefined;
  status?: number | undefined;
}

export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  /** 1: the command failed. 2: it was called incorrectly. */
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

/** The command was called incorrectly; the error is shown with a hint to its help. */
export function calledWrongly(message: string): CliFailure {
  return new CliFailure(message, { exitCode: 2 });
}
