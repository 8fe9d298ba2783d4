// Why a store could not be opened, in words for the user who starts Ringback.

export type CannotOpenCode =
  | 'in_use'
  | 'newer_schema'
  | 'bad_migrations'
  | 'missing'
  | 'shared_session'
  | 'failed';

export class CannotOpenStore extends Error {
  override readonly name = 'CannotOpenStore';
  readonly code: CannotOpenCode;

  constructor(code: CannotOpenCode, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}
