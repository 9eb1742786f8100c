export { openBackgroundApp, type BackgroundAppOptions } from './background-app.js';
export {
  answerBrokenRequests,
  headerFault,
  acceptEveryExpectation,
  type BrokenRequestsOptions,
  type FaultAnswer,
  type RequestFault,
} from './broken-requests.js';
export { measureConnections, type MeasuredPool, type MeasuredRedis } from './connection-metrics.js';
export { describeError, NestLog, openLog, withoutToken, type Logger, type LogOf, type LogSettings } from './log.js';
export { masterKeysFrom, type GivenMasterKeys, type MasterKeys } from './master-keys.js';
export { requireOwnStores } from './own-stores.js';
export { OpenedParts } from './opened-parts.js';
export { packageVersion } from './package-version.js';
export { openProbeServer, Probes, type ProbeAnswer, type ReadinessCheck } from './probes.js';
export { ConfigError, readConfig, variable } from './read-config.js';
export { requireTogether, type Read } from './dependent-switches.js';
export { newRequestId, requestIdFrom } from './request-id.js';
export { runServer, type HostProcess, type RunningServer, type ServerLife } from './run-server.js';
export type { TraceSettings } from '@dormouse/traces';
export { startTraced, tracesFrom, traceVariable, type TraceSwitches } from './trace-switches.js';
export { storageFrom, storagePlace, type StoragePlace, type StorageSwitches } from './storage-switches.js';
