import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { TokenRotation } from './token-rotation.js';
import { useMayChange } from '../may-change.js';
import { useChannel } from '../shown-channel.js';
import { DeleteChannel } from './delete-channel.js';
import { LogOut } from './log-out.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Token, webhook secrets, log-out and the end of the channel. */
export function AccessPage() {
  const { t } = useTranslation('channels');
  const channel = useChannel();
  if (!useMayChange()) return <Text>{t('access.mayNot')}</Text>;
  return (
    <Stack gap="md">
      <TokenRotation channel={channel} />
      <WebhookSecrets channelId={channel.id} />
      <LogOut channel={channel} />
      <DeleteChannel channel={channel} />
    </Stack>
  );
}
