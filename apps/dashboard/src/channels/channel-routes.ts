import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';
import { onceReachable } from '../frame/once-reachable.js';

const listRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels',
  validateSearch: ({ search }: Record<string, unknown>): { search?: string } =>
    typeof search === 'string' || typeof search === 'number' ? { search: String(search) } : {},
  component: lazyRouteComponent(
    onceReachable(() => import('./list/channel-list-page.js')),
    'ChannelListPage',
  ),
});

const newRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels/new',
  component: lazyRouteComponent(
    onceReachable(() => import('../first-run/new-channel-page.js')),
    'NewChannelPage',
  ),
});

/** One channel; its parts are pages of their own below one heading. */
const channelRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels/$channel',
  component: lazyRouteComponent(
    onceReachable(() => import('./channel-page.js')),
    'ChannelPage',
  ),
});

const overviewRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/',
  component: lazyRouteComponent(
    onceReachable(() => import('./overview/overview-page.js')),
    'OverviewPage',
  ),
});

const startRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/start',
  component: lazyRouteComponent(
    onceReachable(() => import('../first-run/start-page.js')),
    'StartPage',
  ),
});

const webhooksRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/webhooks',
  component: lazyRouteComponent(
    onceReachable(() => import('./webhooks/webhooks-page.js')),
    'WebhooksPage',
  ),
});

const webhookRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/webhooks/$webhook',
  component: lazyRouteComponent(
    onceReachable(() => import('./webhooks/webhook-page.js')),
    'WebhookPage',
  ),
});

const eventsRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/events',
  component: lazyRouteComponent(
    onceReachable(() => import('./events/events-page.js')),
    'EventsPage',
  ),
});

const settingsRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/settings',
  component: lazyRouteComponent(
    onceReachable(() => import('./settings/settings-page.js')),
    'SettingsPage',
  ),
});

const accessRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/access',
  component: lazyRouteComponent(
    onceReachable(() => import('./access/access-page.js')),
    'AccessPage',
  ),
});

const parts = [overviewRoute, startRoute, webhooksRoute, webhookRoute, eventsRoute, settingsRoute, accessRoute];

export const channelRoutes = [listRoute, newRoute, channelRoute.addChildren(parts)];
