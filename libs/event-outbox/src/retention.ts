export { deleteOldEvents, purgeEvents, webhooksWaitSince } from './old-rows.js';
