// The entry of the thread that makes a backup. It contains no logic.
import { strict as assert } from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { backUp, CannotBackUp, type BackupReply } from './backup.ts';

const files: { path: string; file: string } = workerData;
assert(parentPort !== null, 'A backup is made in a thread');
parentPort.postMessage(reply());

function reply(): BackupReply {
  try {
    return { kind: 'made', backup: backUp(files) };
  } catch (error) {
    if (error instanceof CannotBackUp) return { kind: 'refused', message: error.message };
    throw error;
  }
}
