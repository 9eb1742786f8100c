import { Anchor, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMayChange } from '../channels/may-change.js';
import { useChannel } from '../channels/shown-channel.js';
import { FirstMessage } from './first-message.js';
import { FirstWebhook } from './first-webhook.js';
import { LinkNumber } from './link-number.js';
import { TokenStep } from './token-step.js';
import { LinkAnchor } from '../frame/links.js';

/**
 * From a channel without a number to one that sends and reports. Which step is next follows from the channel, so it may be left
 * and taken up again, here or in another browser.
 */
export function StartPage() {
  const { t } = useTranslation('firstRun');
  const mayChange = useMayChange();
  const channel = useChannel();
  if (!mayChange) return <Text>{t('start.mayNot')}</Text>;
  return (
    <Stack gap="md">
      <TokenStep channel={channel} />
      <LinkNumber channel={channel} />
      <FirstMessage channel={channel} />
      <FirstWebhook channel={channel} />
      <Text size="sm">
        <Anchor href="/docs" size="sm">
          {t('start.docs')}
        </Anchor>
        {' · '}
        <LinkAnchor to="/channels" size="sm">
          {t('start.list')}
        </LinkAnchor>
      </Text>
    </Stack>
  );
}
