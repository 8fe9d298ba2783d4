// A program for controls: sends the largest bodies to expensive schemas, and prints its finding.
import { sendHugeValues } from './huge-values.ts';

process.stdout.write(JSON.stringify(await sendHugeValues()));
process.exit(); // Some controls leave work that would keep the process alive.
