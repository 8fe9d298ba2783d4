// Loaded before a node of bench/parts/cluster.ts starts (`--import`): gives its lanes another cap than the
// program has. For that benchmark alone.
import { limits } from '../../src/core/limits.ts';

const cap = Number(process.env['BENCH_LANE_CAP']);
Object.assign(limits, { laneCapMax: cap, laneCapStart: Math.min(cap, limits.laneCapStart) });
