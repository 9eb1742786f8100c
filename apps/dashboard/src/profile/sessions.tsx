import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import type { Answer } from '../api/operation-types.js';
import { ConfirmButton } from '../frame/confirm-button.js';
import { Part } from '../frame/part.js';
import { FailureNote } from '../frame/failure-note.js';
import { useFormats } from '../i18n/formats.js';
import { browserName } from './browser-name.js';

/** Where the user is signed in; one session or all of them end at once. */
export function Sessions() {
  const { t } = useTranslation('profile');
  const sessions = useRead('listSessions', {});
  const endAll = useAction('endSessions');
  return (
    <Part title={t('sessions.title')}>
      <FailureNote error={sessions.error} />
      <Stack gap="xs" component="ul" p={0} m={0} w="100%" style={{ listStyle: 'none' }}>
        {sessions.data?.sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </Stack>
      <ConfirmButton
        label={t('sessions.endAll')}
        title={t('sessions.endAll')}
        text={t('sessions.endAllText')}
        action={endAll}
        onConfirm={() => endAll.mutateAsync({}).then(() => window.location.assign('/sign-in'))}
      />
    </Part>
  );
}

function SessionRow({ session }: { session: Answer<'listSessions'>['sessions'][number] }) {
  const { t } = useTranslation('profile');
  const { dateTime } = useFormats();
  const end = useAction('endSession', { changes: ['listSessions'] });
  const { id, created_at: createdAt, address = '', browser, current } = session;
  const name = browserName(browser) ?? t('sessions.unknown');
  return (
    <li>
      <Group justify="space-between">
        <div>
          <Text size="sm" fw={500}>
            {name} {current && <Badge variant="light">{t('sessions.current')}</Badge>}
          </Text>
          <Text size="sm" c="dimmed">
            {t('sessions.since', { time: dateTime(createdAt) })} {address}
          </Text>
        </div>
        {!current && (
          <Button
            variant="default"
            size="xs"
            loading={end.isPending}
            aria-label={t('sessions.endOf', { name, time: dateTime(createdAt) })}
            onClick={() => end.mutate({ path: { id } })}
          >
            {t('sessions.end')}
          </Button>
        )}
      </Group>
      <FailureNote error={end.error} />
    </li>
  );
}
