// All parts of the proof, with the controls that show that each part can fail. The longest parts come first, so that
// the run does not end by waiting for one of them.
import { clientsControls } from './clients/controls.ts';
import { clients } from './clients/part.ts';
import type { LookControl } from './controls/run-controls.ts';
import type { Part } from './finding.ts';
import { exchangesControls } from './exchanges/controls.ts';
import { exchanges } from './exchanges/part.ts';
import { fuzzControls } from './fuzz/controls.ts';
import { fuzz } from './fuzz/part.ts';
import { faultsControls } from './faults/controls.ts';
import { faults } from './faults/part.ts';
import { killsControls } from './kills/controls.ts';
import { kills } from './kills/part.ts';
import { diskControls } from './power/disk-controls.ts';
import { crashes, disk, power } from './power/parts.ts';
import { postgresControls } from './postgres/controls.ts';
import { postgres } from './postgres/part.ts';
import { receiversControls } from './receivers/controls.ts';
import { receivers } from './receivers/part.ts';
import { simulationControls } from './sim/controls.ts';
import { simulation } from './sim/part.ts';
import { targetsControls } from './targets/controls.ts';
import { targets } from './targets/part.ts';

export interface Entry {
  part: Part;
  /**
   * It measures time or starts several processes: only a patient part may run at the same time, with the lowest
   * priority.
   */
  isAlone?: true;
  /** It only computes and does not depend on time, so it runs at the lowest priority beside the others. */
  isPatient?: true;
  /** Ways to break the product that this part must notice. */
  controls?: readonly LookControl[];
}

export const entries: readonly Entry[] = [
  { part: postgres, controls: postgresControls },
  { part: crashes, controls: diskControls },
  { part: power },
  { part: disk },
  { part: fuzz, controls: fuzzControls },
  { part: targets, controls: targetsControls },
  { part: exchanges, controls: exchangesControls },
  { part: faults, controls: faultsControls },
  { part: clients, controls: clientsControls },
  { part: receivers, isAlone: true, controls: receiversControls },
  { part: kills, isAlone: true, controls: killsControls },
  { part: simulation, isPatient: true, controls: simulationControls },
];
