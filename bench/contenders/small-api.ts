// A small API on Node's own server, as it could stand behind a gateway: lists jobs in 1 KB, and accepts jobs,
// each with an id of its own.
import { createServer } from 'node:http';
import { answerParent } from '../harness/child-process.ts';
import { listen } from '../harness/listen.ts';
import { samplePayload } from '../harness/numbered-payloads.ts';

const jobs = Buffer.from(JSON.stringify({ items: [samplePayload(), samplePayload()] }));

answerParent(async () => {
  let accepted = 0;
  const server = createServer((request, response) => {
    const isList = request.method === 'GET';
    const answer = isList ? jobs : newJob((accepted += 1));
    const headers = { 'content-type': 'application/json', 'content-length': answer.length };
    request.resume();
    request.on('end', () => response.writeHead(isList ? 200 : 201, headers).end(answer));
  });
  return { port: await listen(server) };
});

function newJob(no: number): Buffer {
  return Buffer.from(`{"jobId":"job_${no}","state":"queued"}`);
}
