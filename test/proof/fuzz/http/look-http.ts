// A program for controls, and to repeat a run: compares Ringback's HTTP parsers with Node's.
// node test/proof/fuzz/http/look-http.ts 20000 1
import { fuzzHttp } from './part.ts';

const [messages = '20000', seed = '1'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(fuzzHttp({ messages: Number(messages), seed: Number(seed) })));
