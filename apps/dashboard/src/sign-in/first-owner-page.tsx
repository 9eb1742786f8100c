import { Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { useEnter } from './entering.js';
import { LinkPage } from './link-page.js';
import { AddressField, NameField, NewPasswordField } from './user-fields.js';

/** The first owner of an installation gives address and password, and is signed in with them. */
export function FirstOwnerPage() {
  const { t } = useTranslation('signIn');
  const enter = useEnter();
  const form = useForm({ initialValues: { name: '', email: '', password: '' } });
  const signIn = useAction('signIn', { onDone: () => enter() });
  const accept = useAction('acceptFirstOwner', {
    onDone: () => signIn.mutate({ body: { email: form.values.email, password: form.values.password } }),
  });
  return (
    <LinkPage path="/first-owner" title={t('firstOwner.title')} error={accept.error}>
      {(token) => (
        <form onSubmit={form.onSubmit((user) => accept.mutate({ body: { token, ...user } }))}>
          <Stack>
            <Text>{t('firstOwner.about')}</Text>
            <NameField input={form.getInputProps('name')} error={accept.error} />
            <AddressField input={form.getInputProps('email')} error={accept.error} />
            <NewPasswordField input={form.getInputProps('password')} error={accept.error} />
            <FailureNote error={accept.error ?? signIn.error} fields={['name', 'email', 'password']} />
            <Button type="submit" loading={accept.isPending || signIn.isPending}>
              {t('firstOwner.submit')}
            </Button>
          </Stack>
        </form>
      )}
    </LinkPage>
  );
}
