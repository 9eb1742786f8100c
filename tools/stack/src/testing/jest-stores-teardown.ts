/** Global teardown of Jest's integration project. */
export { stopTestStores as default } from './jest-stores.js';
