/** The servers that are bundled: those that production runs. */
export const BUNDLED = ['edge-api', 'session-worker', 'webhook-dispatcher', 'control-plane', 'billing'];
