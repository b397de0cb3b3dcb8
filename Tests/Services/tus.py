"""Uploads by tus on tuspyserver, below /files, into the folder FOLDER."""

import os

from fastapi import FastAPI
from tuspyserver import create_tus_router

app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=os.environ["FOLDER"]))
