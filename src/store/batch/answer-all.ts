// Resolves or rejects all callers that wait for one batch.

export interface Awaiting<R> {
  answer(reply: R): void;
  refuse(error: Error): void;
}

export function answerAll<R>(waiting: readonly Awaiting<R>[], replies: readonly R[]): void {
  for (const [index, reply] of replies.entries()) waiting[index]?.answer(reply);
}

export function refuseAll(waiting: readonly Pick<Awaiting<never>, 'refuse'>[], error: Error): void {
  for (const one of waiting) one.refuse(error);
}
