"""authgent on a SQLite database with a connection for each session, as an ASGI application.

By itself it shares one connection among all sessions, where the rollback of one undoes what another has not committed: a
client is registered, and not found afterwards.
"""

import os

from authgent_server import db
from authgent_server.app import create_app
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

db._engine = create_async_engine(os.environ["AUTHGENT_DATABASE_URL"], poolclass=NullPool)
application = create_app()
