export { ENDPOINTS, gatewayOpenApi } from './gateway-openapi.js';
export type { Endpoint } from './endpoint.js';
export type { Json } from './json-schema.js';
export { webhooksOpenApi } from './webhooks-openapi.js';
