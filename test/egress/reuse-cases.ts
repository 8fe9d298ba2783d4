// Responses, and whether their connection may be reused. After anything unusual it is closed, because the next
// response on it might not belong to the next request.
import { ok } from './receiver.ts';

export interface ReuseCase {
  what: string;
  answer: string;
  isKept: boolean;
}

const inChunks = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

const rows: readonly (readonly [what: string, answer: string, isKept: boolean])[] = [
  ['an answer', ok(), true],
  ['a 100', `HTTP/1.1 100 Go\r\n\r\n${ok()}`, true],
  ['a 103', `HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\n${ok()}`, true],
  ['a 102', `HTTP/1.1 102 Wait\r\n\r\n${ok()}`, false],
  ['a 199', `HTTP/1.1 199 Odd\r\n\r\n${ok()}`, false],
  ['a 204', 'HTTP/1.1 204 No Content\r\n\r\n', true],
  ['a 204 with a length', 'HTTP/1.1 204 No Content\r\ncontent-length: 9\r\n\r\n', false],
  ['a 304', 'HTTP/1.1 304 Same\r\n\r\n', true],
  ['a 304 with a length', 'HTTP/1.1 304 Same\r\ncontent-length: 9\r\n\r\n', false],
  ['a 304 in chunks', 'HTTP/1.1 304 Same\r\ntransfer-encoding: chunked\r\n\r\n', false],
  ['a byte behind the end', `${ok()}x`, false],
  ['an answer behind the end', ok() + ok(), false],
  ['a trailer', `${inChunks}0\r\nx: y\r\n\r\n`, true],
  ['a trailer without a colon', `${inChunks}0\r\nx\r\n\r\n`, false],
  ['a folded trailer', `${inChunks}0\r\nx: y\r\n z\r\n\r\n`, false],
  ['an extension', `${inChunks}1;x=y\r\na\r\n0\r\n\r\n`, true],
  ['an extension in quotes', `${inChunks}1;x="y"\r\na\r\n0\r\n\r\n`, false],
];

export const reuseCases: readonly ReuseCase[] = rows.map(([what, answer, isKept]) => ({
  what,
  answer,
  isKept,
}));
