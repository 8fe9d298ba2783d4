// A program for controls: sends the largest bodies to expensive schemas, and prints what it found.
import { sendHugeValues } from './huge-values.ts';

process.stdout.write(JSON.stringify(await sendHugeValues()));
process.exit(); // Some controls break what would have to end.
