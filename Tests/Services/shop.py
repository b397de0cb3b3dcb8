"""A shop on Django REST framework: three kinds of pagination, and JSON Web Tokens that expire after three seconds.

The database is the file named by SHOP_DATABASE; it is made and filled at the first start.
"""

import os

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="the-key-of-a-server-on-loopback-that-guards-nothing",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    # The real hashes take a quarter of a second each.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["SHOP_DATABASE"]}},
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "rest_framework",
        "rest_framework_simplejwt.token_blacklist",
    ],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    REST_FRAMEWORK={"DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"]},
)
django.setup()

from datetime import timedelta

settings.SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": timedelta(seconds=3),
    "ROTATE_REFRESH_TOKENS": True,
    "BLACKLIST_AFTER_ROTATION": True,
}

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.urls import path
from rest_framework import generics, pagination, permissions, serializers
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.views import TokenObtainPairView, TokenRefreshView


class Goods(models.Model):
    name = models.CharField(max_length=40)
    price = models.PositiveIntegerField()

    class Meta:
        app_label = "shop"
        ordering = ["id"]


def fill():
    call_command("migrate", verbosity=0)
    if Goods._meta.db_table in connection.introspection.table_names():
        return
    with connection.schema_editor() as editor:
        editor.create_model(Goods)
    Goods.objects.bulk_create(Goods(name=f"tea {number}", price=number % 97 + 1) for number in range(1, 1001))
    User.objects.create_user("anna", password="secret-of-anna")


class GoodsSerializer(serializers.ModelSerializer):
    price = serializers.IntegerField(min_value=1, max_value=1000)

    class Meta:
        model = Goods
        fields = ["id", "name", "price"]


class ByNumber(pagination.PageNumberPagination):
    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 50


class ByOffset(pagination.LimitOffsetPagination):
    default_limit = 20
    max_limit = 50


class ByCursor(pagination.CursorPagination):
    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 50
    ordering = "id"


class GoodsView(generics.ListCreateAPIView):
    queryset = Goods.objects.all()
    serializer_class = GoodsSerializer
    authentication_classes = []
    permission_classes = []


class AccountView(APIView):
    authentication_classes = [JWTAuthentication]
    permission_classes = [permissions.IsAuthenticated]

    def get(self, request):
        return Response({"user": request.user.username})


def goods(pages):
    return GoodsView.as_view(pagination_class=pages)


urlpatterns = [
    path("token/", TokenObtainPairView.as_view()),
    path("token/refresh/", TokenRefreshView.as_view()),
    path("account/", AccountView.as_view()),
    path("goods/numbered/", goods(ByNumber)),
    path("goods/offset/", goods(ByOffset)),
    path("goods/cursor/", goods(ByCursor)),
]

fill()
application = get_wsgi_application()
