// Preloaded by the nodes of bench/parts/second-node.ts (`--import`): overrides the lane cap of the
// program. For that benchmark only.
import { limits } from '../../src/core/limits/limits.ts';

const cap = Number(process.env['BENCH_LANE_CAP']);
Object.assign(limits, { laneCapMax: cap, laneCapStart: Math.min(cap, limits.laneCapStart) });
