/** The transaction has written nothing, whether or not it was committed, so it can run again. */
export class WroteNothing extends Error {
  override readonly name = 'WroteNothing';
}
