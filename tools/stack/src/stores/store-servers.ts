/** Single store servers, for drills: they lose them, and bring them back. */
export { startObjectStore, type ObjectStore } from '../objects/object-store.js';
export { ProcessRegister } from '../processes/process-register.js';
export { postgresDataFolder, postgresFolderOwner, startPostgres, type PostgresServer } from './postgres.js';
export { startRedis, type RedisServer } from './redis.js';
