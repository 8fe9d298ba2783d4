// Converts the row of a claimed delivery, with the lane that it was claimed from.
import type { Leased } from '../../core/domain/delivery.ts';
import type { Lane } from '../../core/domain/lane.ts';
import type { Row } from '../sql/row.ts';
import { bytes, integer, maybe, text } from '../sql/row.ts';

export function toLeased(row: Row, lane: Lane, lease: number): Leased {
  return {
    event: text(row, 'event'),
    n: integer(row, 'n'),
    eventName: text(row, 'name'),
    payload: bytes(row, 'payload'),
    trace: maybe(text, row, 'trace'),
    appNo: lane.appNo,
    lane: lane.no,
    callback: integer(row, 'callback'),
    version: lane.version,
    concurrency: lane.concurrency,
    tries: integer(row, 'tries'),
    attempts: integer(row, 'attempts'),
    lease,
  };
}
