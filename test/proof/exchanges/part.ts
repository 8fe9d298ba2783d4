// The part of the proof about what the gateway registers: nothing may be lost between it, the API and the database.
import type { Part } from '../finding.ts';
import { killAtStatements, killAtSteps } from './kills.ts';

export const exchanges: Part = {
  name: 'exchanges',
  about:
    'A client starts jobs at an API behind the gateway. The gateway and the API are killed at every step between ' +
    'the request and its answer, the gateway also before and after each statement that writes. Then the API ' +
    'publishes to each job that it accepted, and every callback must arrive. Jobs that it refused are never called.',
  prove: async ({ scale }) => {
    if (scale === 'small') {
      return [
        await killAtSteps([
          { victim: 'gateway', step: 'decided', isAcceptable: true },
          { victim: 'API', step: 'half answered', isAcceptable: true },
          { victim: 'gateway', step: 'answered', isAcceptable: false },
        ]),
        await killAtStatements({ isAcceptable: true, every: 12, sides: ['after'] }),
      ];
    }
    const [atSteps, refused, accepted] = await Promise.all([
      killAtSteps(),
      killAtStatements({ isAcceptable: false, every: 2 }),
      killAtStatements({ isAcceptable: true }),
    ]);
    return [atSteps, accepted, refused];
  },
};
