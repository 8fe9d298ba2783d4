/** A transaction says of itself that it has written nothing, whether it was committed or not: it can run again. */
export class WroteNothing extends Error {
  override readonly name = 'WroteNothing';
}
