export { freeShardsOfDeadWorker } from './shards/dead-workers.js';
export {
  endPlacement,
  freeShardRows,
  ownerFigures,
  placeShard,
  setDrain,
  shardRows,
  workerRows,
  type ShardRow,
  type WorkerRow,
} from './shards/fleet-rows.js';
export {
  countShards,
  fairShare,
  ShardLeases,
  shardNumbers,
  type Fleet,
  type ShardLeasesOptions,
} from './shards/shard-leases.js';
export {
  addWakeCounts,
  deleteOldWakeCounts,
  wakeBuckets,
  wakesByMinute,
  type WakeCount,
} from './shards/wake-latency-rows.js';
