/** The object store as a server of its own, for containers. */
import { readObjectServerEnvironment } from '../config.js';
import { startObjectStore } from './object-store.js';

const config = readObjectServerEnvironment();
const store = await startObjectStore({
  dir: config.DATA_DIR,
  host: config.HOST,
  port: config.PORT,
  buckets: [config.S3_BUCKET],
  accessKeyId: config.S3_ACCESS_KEY_ID,
  secretAccessKey: config.S3_SECRET_ACCESS_KEY,
  durable: true,
});
console.log(JSON.stringify({ level: 'info', msg: 'listening', url: store.endpoint }));
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => void store.stop());
