/** The servers that production runs, and what stands in for others' services in the sandbox and in tests. */
export const BUNDLED = [
  ...['edge-api', 'session-worker', 'webhook-dispatcher', 'control-plane', 'billing'],
  ...['network-simulator', 'mailbox', 'stripe-simulator'],
];
