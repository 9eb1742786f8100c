/** Global teardown of Jest's e2e project. */
export { stopSharedStacks as default } from './jest-shared-stacks.js';
