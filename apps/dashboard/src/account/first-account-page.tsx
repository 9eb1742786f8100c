import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { queryClient, useAction } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Page } from '../frame/page.js';
import { chooseAccount } from '../session/session.js';

/** For who is in no account: name one, and go on to its first channel. */
export function FirstAccountPage() {
  const { t } = useTranslation('account');
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: '' } });
  const create = useAction('createAccount', {
    // The address first: once the account is there, the page of the address is drawn in place of this one.
    onDone: ({ id }) => {
      chooseAccount(id);
      void navigate({ to: '/channels/new' }).then(() => queryClient.invalidateQueries({ queryKey: ['listAccounts'] }));
    },
  });
  return (
    <Page title={t('first.title')} about={t('first.about')}>
      <form onSubmit={form.onSubmit((body) => create.mutate({ body }))}>
        <Stack maw={420}>
          <TextInput
            label={t('name.label')}
            autoComplete="organization"
            required
            error={fieldFault(create.error, 'name')}
            {...form.getInputProps('name')}
          />
          <FailureNote error={create.error} fields={['name']} />
          <Button type="submit" loading={create.isPending} w="fit-content">
            {t('first.submit')}
          </Button>
          <Text size="sm" c="dimmed">
            {t('first.invited')}
          </Text>
        </Stack>
      </form>
    </Page>
  );
}
