// A process of its own that holds our readers of HTTP against Node's, for controls, and to see a run again.
// node test/proof/fuzz/http/look-http.ts 20000 1
import { fuzzHttp } from './part.ts';

const [messages = '20000', seed = '1'] = process.argv.slice(2);
process.stdout.write(JSON.stringify(fuzzHttp({ messages: Number(messages), seed: Number(seed) })));
