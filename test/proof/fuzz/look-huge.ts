// A program for controls: asks for the reports of huge documents, and prints what it found.
import { askForHugeReports, smallHuge } from './huge-documents.ts';

process.stdout.write(JSON.stringify(await askForHugeReports(smallHuge)));
process.exit(); // Some controls break what would have to end.
