import { account } from './account.js';
import { billing } from './billing.js';
import { channelSettings } from './channel-settings.js';
import { channels } from './channels.js';
import { events } from './events.js';
import { firstRun } from './first-run.js';
import { frame } from './frame.js';
import { operators } from './operators.js';
import { profile } from './profile.js';
import { signIn } from './sign-in.js';
import { webhooks } from './webhooks.js';

export const catalogue = {
  account,
  billing,
  channels,
  channelSettings,
  events,
  firstRun,
  frame,
  operators,
  profile,
  signIn,
  webhooks,
} as const;
