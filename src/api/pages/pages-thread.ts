// The entry point of the thread that makes the pages of one contract. It sends each page when it is ready, the quickest
// first.
import { strict as assert } from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import type { Contract } from '../../contract/model/contract.ts';
import { compileAgain } from '../../contract/compile/contracts.ts';
import { docsPage, type Service } from '../docs/page.ts';
import { listEventTypes, reportJson } from './contract-json.ts';

export interface PagesTask {
  files: Contract['files'];
  service: Service;
}

export type MadePage =
  | { kind: 'docs'; html: Uint8Array; contentSecurityPolicy: string }
  | { kind: 'eventTypes'; items: string }
  | { kind: 'report'; json: Uint8Array };

const task: PagesTask = workerData;
assert(parentPort !== null, 'Pages are made in a thread');
const contract = compileAgain(task.files);
const { html, contentSecurityPolicy } = docsPage(contract, task.service);
post({ kind: 'docs', html: new TextEncoder().encode(html), contentSecurityPolicy });
post({ kind: 'eventTypes', items: listEventTypes(contract) });
post({ kind: 'report', json: new TextEncoder().encode(reportJson(contract)) });

function post(page: MadePage): void {
  parentPort?.postMessage(page);
}
