export { drainBody } from './drain-request.js';
export { ErrorEnvelopeFilter } from './error-envelope.filter.js';
export { openHttpAdapter, type HttpAdapterOptions } from './http-adapter.js';
export { IdleConnections } from './idle-connections.js';
export { pathIds } from './path-ids.js';
export { announcesBody, unreadableType } from './request-body.js';
export { serveApp, type ServeTerms } from './serve-app.js';
export { valid } from './valid.js';
export { whenGone } from './when-gone.js';
