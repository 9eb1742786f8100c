import { MANAGEMENT_PREFIX, OPERATIONS, type Access, type Operation } from '@dormouse/management-contract';

/** `/channels/{id}` and `/channels/:id` as one text. */
function patternOf(path: string): string {
  return path.replaceAll(/\{\w+\}|:\w+/g, ':');
}

const ROWS = new Map(
  Object.values<Operation>(OPERATIONS).map(({ method, path, access }) => [
    `${method.toUpperCase()} ${patternOf(MANAGEMENT_PREFIX + path)}`,
    access,
  ]),
);

/**
 * Who may use a route; undefined for one that is no operation of the management API.
 * @param route as Fastify has it, with `:id` for parameters
 */
export function accessOf(method: string, route: string): Access | undefined {
  return ROWS.get(`${method === 'HEAD' ? 'GET' : method} ${patternOf(route)}`);
}
