// A program for controls: requests the reports of huge documents, and prints its finding.
import { askForHugeReports, smallHuge } from './huge-documents.ts';

process.stdout.write(JSON.stringify(await askForHugeReports(smallHuge)));
process.exit(); // Some controls leave work that would keep the process alive.
