import { ConfigError } from './read-config.js';

const STANDARD_PORTS: Readonly<Record<string, string>> = {
  'postgres:': '5432',
  'postgresql:': '5432',
  'redis:': '6379',
  'rediss:': '6379',
};

/** What makes two addresses the same store: server and database, whoever connects. */
function storeAt(address: string): string {
  const { protocol, hostname, port, pathname } = new URL(address);
  const isRedis = protocol.startsWith('redis');
  const database = pathname.replace(/^\/|\/$/g, '') || (isRedis ? '0' : '');
  return `${hostname.toLowerCase()}:${port || STANDARD_PORTS[protocol]} ${database}`;
}

/**
 * Refuses a start with two regions that share a store: each would take the other's rows, or its commands, for its own.
 * @param variable that names the regions
 * @param what such as `database`
 * @param addresses URL of the store by region
 * @throws {ConfigError} one sentence for each pair
 */
export function requireOwnStores(variable: string, what: string, addresses: Iterable<readonly [string, string]>): void {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const [region, address] of addresses) {
    const store = storeAt(address);
    const owner = owners.get(store);
    if (owner === undefined) owners.set(store, region);
    else problems.push(`${variable}: ${owner} and ${region} have the same ${what}; every region needs its own`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
