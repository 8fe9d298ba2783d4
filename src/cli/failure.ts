// A failure that the person at the terminal can do something about: shown as a sentence, no stack.

export class CliFailure extends Error {
  override readonly name = 'CliFailure';
}
