// The part of the proof about what the gateway registers: nothing may be lost between it, the API and the database.
import type { Finding, Part, PartOptions } from '../finding.ts';
import { killAtStatements, killAtSteps } from './kills.ts';
import { cutExchanges, killServerAtSteps } from './postgres.ts';

export const exchanges: Part = {
  name: 'exchanges',
  about:
    'A client starts jobs at an API behind the gateway. The gateway, the API and PostgreSQL are killed at every step ' +
    'between the request and its answer; on SQLite the gateway is killed before and after each statement that ' +
    'writes, on PostgreSQL its connection is cut at each message. Then the API publishes to each job that it ' +
    'accepted, and every callback must arrive. Jobs that it refused are never called.',
  prove: async (options) => (options.scale === 'small' ? proveSmall(options) : proveFull(options)),
};

async function proveSmall({ say }: PartOptions): Promise<Finding[]> {
  return [
    await killAtSteps([
      { victim: 'gateway', step: 'decided', isAcceptable: true },
      { victim: 'API', step: 'half answered', isAcceptable: true },
      { victim: 'gateway', step: 'answered', isAcceptable: false },
    ]),
    await killAtStatements({ isAcceptable: true, every: 12, sides: ['after'] }),
    await cutExchanges({ step: 24, say }),
  ];
}

/** Two sequences at a time. */
async function proveFull({ say }: PartOptions): Promise<Finding[]> {
  const others = async (): Promise<Finding[]> => [
    await killAtSteps(),
    await killServerAtSteps(),
    await cutExchanges({ step: 3, say }),
  ];
  const statements = async (): Promise<Finding[]> => [
    await killAtStatements({ isAcceptable: true }),
    await killAtStatements({ isAcceptable: false, every: 2 }),
  ];
  return (await Promise.all([others(), statements()])).flat();
}
