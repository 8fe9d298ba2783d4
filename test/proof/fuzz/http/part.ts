// Compares both handwritten HTTP parsers with Node's parser on random messages.
import type { Finding } from '../../finding.ts';
import { seededChance } from '../../sim/chance.ts';
import { judgeAnswer } from './answers.ts';
import { judgeRequest } from './requests.ts';

const shownMax = 5;
/** The least share of accepted messages: with fewer, hardly anything would be compared. */
const acceptedMin = 0.05;

export function fuzzHttp({ messages, seed }: { messages: number; seed: number }): Finding {
  const chance = seededChance(seed);
  const each = Math.ceil(messages / 2);
  const figures: Finding['figures'] = {};
  const violations: string[] = [];
  for (const [name, judge] of [
    ['requests', judgeRequest],
    ['answers', judgeAnswer],
  ] as const) {
    let accepted = 0;
    for (let count = 0; count < each; count += 1) {
      const { isAccepted, flaw } = judge(chance);
      if (isAccepted) accepted += 1;
      if (flaw !== undefined && violations.length < shownMax) violations.push(`http: ${flaw}`);
    }
    figures[name] = each;
    figures[`${name} accepted`] = accepted;
    if (accepted < acceptedMin * each) violations.push(`http: only ${accepted} ${name} accepted`);
  }
  return { part: 'HTTP read by hand, against Node’s parser', figures, violations };
}
