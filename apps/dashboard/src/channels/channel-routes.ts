import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '../frame/frame-routes.js';

const listRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels',
  validateSearch: ({ search }: Record<string, unknown>): { search?: string } =>
    typeof search === 'string' || typeof search === 'number' ? { search: String(search) } : {},
  component: lazyRouteComponent(() => import('./list/channel-list-page.js'), 'ChannelListPage'),
});

const newRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels/new',
  component: lazyRouteComponent(() => import('../first-run/new-channel-page.js'), 'NewChannelPage'),
});

/** One channel; its parts are pages of their own below one heading. */
const channelRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/channels/$channel',
  component: lazyRouteComponent(() => import('./channel-page.js'), 'ChannelPage'),
});

const overviewRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview-page.js'), 'OverviewPage'),
});

const startRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/start',
  component: lazyRouteComponent(() => import('../first-run/start-page.js'), 'StartPage'),
});

const webhooksRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.js'), 'WebhooksPage'),
});

const webhookRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/webhooks/$webhook',
  component: lazyRouteComponent(() => import('./webhooks/webhook-page.js'), 'WebhookPage'),
});

const eventsRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/events',
  component: lazyRouteComponent(() => import('./events/events-page.js'), 'EventsPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings-page.js'), 'SettingsPage'),
});

const accessRoute = createRoute({
  getParentRoute: () => channelRoute,
  path: '/access',
  component: lazyRouteComponent(() => import('./access/access-page.js'), 'AccessPage'),
});

const parts = [overviewRoute, startRoute, webhooksRoute, webhookRoute, eventsRoute, settingsRoute, accessRoute];

export const channelRoutes = [listRoute, newRoute, channelRoute.addChildren(parts)];
