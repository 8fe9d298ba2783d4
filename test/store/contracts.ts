// All suites of the contract of the Store port. They run on every adapter.
import { advanceReplayContract } from './advance-replay-contract.ts';
import { auditContract } from './audit-contract.ts';
import { appRoomContract } from './app-room-contract.ts';
import { storeContract } from './store-contract.ts';
import { keysContract } from './keys-contract.ts';
import { subscribeContract } from './subscribe-contract.ts';
import { editSubscriptionContract } from './edit-subscription-contract.ts';
import { controlsContract } from './controls-contract.ts';
import { eventTypeContract } from './event-type-contract.ts';
import { expiryContract } from './expiry-contract.ts';
import { failingContract } from './failing-contract.ts';
import { feedContract } from './feed-contract.ts';
import { gaugeContract } from './gauge-contract.ts';
import { laneChangeContract } from './lane-change-contract.ts';
import { laneContract } from './lane-contract.ts';
import { filterContract } from './filter-contract.ts';
import { noticeContract } from './notice-contract.ts';
import { customerContract } from './customer-contract.ts';
import { deliveryReadsContract } from './delivery-reads-contract.ts';
import { publishContract } from './publish-contract.ts';
import { quotaContract } from './quota-contract.ts';
import { recoverContract } from './recover-contract.ts';
import { replayContract } from './replay-contract.ts';
import { retentionContract } from './retention-contract.ts';
import { searchContract } from './search-contract.ts';
import { sessionContract } from './session-contract.ts';
import { settleContract } from './settle-contract.ts';
import { statsContract } from './stats-contract.ts';
import { skipContract } from './skip-contract.ts';
import { subjectContract } from './subject-contract.ts';
import { subscriptionStatsContract } from './subscription-stats-contract.ts';

/** For SQLite with threads, test/e2e/replay.test.ts covers replays, with a process killed in the middle. */
export const replayContracts = [replayContract, advanceReplayContract];

export const contracts = [
  keysContract,
  eventTypeContract,
  subscribeContract,
  editSubscriptionContract,
  storeContract,
  publishContract,
  settleContract,
  recoverContract,
  deliveryReadsContract,
  laneContract,
  appRoomContract,
  laneChangeContract,
  controlsContract,
  expiryContract,
  subjectContract,
  customerContract,
  filterContract,
  skipContract,
  retentionContract,
  noticeContract,
  failingContract,
  searchContract,
  sessionContract,
  statsContract,
  subscriptionStatsContract,
  feedContract,
  gaugeContract,
  quotaContract,
  auditContract,
];
