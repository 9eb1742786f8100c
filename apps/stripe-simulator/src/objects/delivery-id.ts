/** The id of one event's way to one endpoint. */
export function deliveryId(event: string, endpoint: string): string {
  return `${event} ${endpoint}`;
}
