import { hashOperatorKey, mintOperatorKey } from './operators/operator-keys.js';

/*
 * `node dist/create-operator-key.js`: prints {"operatorKey": …, "sha256": …}. The key is printed once and cannot be
 * read again; the hash goes into OPERATORS under the operator's name.
 */
const operatorKey = mintOperatorKey();
const sha256 = hashOperatorKey(operatorKey).toString('hex');
process.stdout.write(`${JSON.stringify({ operatorKey, sha256 })}\n`);
